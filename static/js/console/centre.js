// centre.js – fills the middle pane with what this campaign has people look at.
import { Live } from "./live.js";
import { showFiles, showRecorded } from "./recorded.js";

const live = document.querySelector("[data-live]");
if (live) new Live(live);

const recorded = document.querySelector("[data-recorded]");
if (recorded) showRecorded(recorded.querySelector("[data-recorded-body]"), recorded.dataset.base);

const files = document.querySelector("[data-files]");
if (files) showFiles(files);
