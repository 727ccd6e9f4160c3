// Progress through a backlog in words, and how long the rest takes.

import { count, plural } from "./dom.js";

// "40 minutes": as exact as an estimate is.
export function about(seconds) {
  if (seconds < 90) return "a minute";
  const minutes = seconds / 60;
  if (minutes < 90) return `${minutes < 10 ? Math.round(minutes) : 5 * Math.round(minutes / 5)} minutes`;
  const hours = minutes / 60;
  return hours < 10 ? `${Math.round(2 * hours) / 2} hours` : `${count(Math.round(hours))} hours`;
}

// Whether a stream has, or had, instances that wait.
export const hasBacklog = (progress) => progress.undecided > 0 || progress.mode === "backlog";

// "1,020 of about 1,480 questions; 40 minutes at your pace".
export function remaining(progress, pace = "at your pace") {
  const { undecided, answered, expected, left, remaining: seconds } = progress;
  if (expected === null) return `${plural(answered, "question")} answered; ${plural(undecided, "instance waits", "instances wait")}`;
  if (!undecided && !left) return `all ${plural(expected, "question")} answered`;
  const whole = `${count(answered)} of ${undecided ? "about " : ""}${plural(expected, "question")}`;
  return seconds === null ? whole : `${whole}; ${about(seconds)} ${pace}`;
}
