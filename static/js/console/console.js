// console.js – puts the parts of the console together.
import { tell } from "./bus.js";

tell("ready", {});
