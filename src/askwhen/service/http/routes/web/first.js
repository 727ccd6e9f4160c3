// The first question, asked for before the rest of the page is here.

import { call, facts, session, streamHere, streamPath, who, device } from "./api.js";

export const first = facts && session.name ? call("POST", streamPath(streamHere(), "/questions/next"), who({ device: device() })) : null;
first?.catch(() => null); // the code that awaits it handles the error
