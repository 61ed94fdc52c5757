// capture.js – takes a picture of one element through the browser's own screen capture, asked for once.
const PASTE = "Take a screenshot with your system and paste it here (Ctrl+V).";
const HANDLE = crypto.randomUUID();

export class NoCapture extends Error {}

let stream = null;
let video = null;

export function canCapture() {
  return typeof navigator.mediaDevices?.getDisplayMedia === "function";
}

// Resolves to { blob, isWhole }; `isWhole` when another window was shared, which is taken as it is.
export async function capture(element) {
  if (!canCapture()) throw new NoCapture(`This browser cannot take a picture of its own page. ${PASTE}`);
  const track = await sharedTrack();
  await nextImage();
  const isOwnTab = track.getCaptureHandle?.()?.handle === HANDLE;
  const blob = await drawn(isOwnTab ? element.getBoundingClientRect() : null);
  return { blob, isWhole: !isOwnTab };
}

async function sharedTrack() {
  const known = stream?.getVideoTracks()[0];
  if (known?.readyState === "live") return known;
  try {
    navigator.mediaDevices.setCaptureHandleConfig?.({ handle: HANDLE, permittedOrigins: [location.origin] });
    stream = await navigator.mediaDevices.getDisplayMedia({
      video: { displaySurface: "browser", frameRate: 10 },
      audio: false,
      preferCurrentTab: true,
      selfBrowserSurface: "include",
      surfaceSwitching: "exclude",
      monitorTypeSurfaces: "exclude",
    });
  } catch (error) {
    const isRefused = error.name === "NotAllowedError";
    throw new NoCapture(`${isRefused ? "The picture was not allowed" : "The browser could not take the picture"}. ${PASTE}`);
  }
  video = document.createElement("video");
  Object.assign(video, { srcObject: stream, muted: true });
  await video.play();
  return stream.getVideoTracks()[0];
}

// A page at rest sends no new image: then the one that is there is the newest.
function nextImage() {
  return Promise.race([
    new Promise((done) => { video.requestVideoFrameCallback?.(() => done()); }),
    new Promise((done) => { setTimeout(done, 400); }),
  ]);
}

async function drawn(rectangle) {
  const { videoWidth, videoHeight } = video;
  if (!videoWidth) throw new NoCapture(`The browser gave no image. ${PASTE}`);
  const [byX, byY] = [videoWidth / window.innerWidth, videoHeight / window.innerHeight];
  const left = rectangle ? Math.max(0, rectangle.left) : 0;
  const top = rectangle ? Math.max(0, rectangle.top) : 0;
  const right = rectangle ? Math.min(window.innerWidth, rectangle.right) : window.innerWidth;
  const bottom = rectangle ? Math.min(window.innerHeight, rectangle.bottom) : window.innerHeight;
  const [width, height] = [Math.round((right - left) * byX), Math.round((bottom - top) * byY)];
  if (width < 2 || height < 2) throw new NoCapture("The application is out of sight; scroll it into view first.");
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d").drawImage(video, left * byX, top * byY, width, height, 0, 0, width, height);
  return canvas.convertToBlob({ type: "image/png" });
}

window.addEventListener("pagehide", () => {
  for (const track of stream?.getTracks() ?? []) track.stop();
});
