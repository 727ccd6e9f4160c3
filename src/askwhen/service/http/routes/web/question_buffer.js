// The questions that an annotator holds: the one on the screen, and the next one, fetched ahead with its own lease.

import { Refused, call, device, isGone, isPassing, streamPath, who } from "./api.js";
import { finish, freed, hold, letGo, takeBack, wasAnswered } from "./holds.js";

const AHEAD = 1;
const SHORT_PAUSE = 250;
const PAUSE = 1000;
const LONGEST_PAUSE = 4000;
const ELSEWHERE = 5000; // another tab has the next question, and says when it has it no longer; or it has ended without a word

export class QuestionBuffer {
  // told: { shown(question or null), elsewhere(), reachable(yes, error), lost(question, why), failed(error), ahead(how many), renewed() }
  // first: a question that was asked for already, or nothing.
  constructor(stream, lease, outbox, told, first) {
    Object.assign(this, { stream, outbox, told, first });
    this.current = null;
    this.ahead = [];
    this.answered = new Set(); // whose answers the service may not have yet
    this.left = false;
    this.pause = PAUSE;
    this.fetching = null;
    this.keep(lease);
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", (event) => event.persisted && this.comeBack());
  }

  // Renew leases of so many seconds in time.
  keep(lease) {
    clearInterval(this.renewing);
    this.renewing = setInterval(() => this.renew(), Math.min((1000 * lease) / 3, 60000));
  }

  path(question, act) {
    return streamPath(this.stream, `/questions/${question}/${act}`);
  }

  get held() {
    return [this.current, ...this.ahead].filter(Boolean);
  }

  // Fetch until there is a question to show and another one behind it. Only one request at a time.
  fill() {
    clearTimeout(this.timer);
    if (this.left || this.held.length > AHEAD) return;
    if (this.outbox.pending(this.stream).length > 1) {
      this.again(SHORT_PAUSE); // those still count as held: the service would give us one of them again
      return;
    }
    this.fetching ??= this.fetch().finally(() => {
      this.fetching = null;
    });
  }

  again(pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fill(), pause);
  }

  async fetch() {
    let found;
    try {
      const { first } = this;
      this.first = null;
      found = await (first ?? call("POST", streamPath(this.stream, "/questions/next"), who({ device: device() })));
    } catch (error) {
      if (!isPassing(error)) {
        this.told.failed(error);
        return;
      }
      this.told.reachable(false, error);
      this.again(PAUSE);
      return;
    }
    this.told.reachable(true);
    if (found === null) {
      if (!this.current) this.told.shown(null);
      this.wait();
      return;
    }
    await this.outbox.ready;
    const known = this.held.some((each) => each.question === found.question) || wasAnswered(this.stream, found.question)
      || this.outbox.pending(this.stream).some((each) => each.question === found.question);
    if (known) {
      this.again(SHORT_PAUSE);
      return;
    }
    if (!(await hold(this.stream, found.question))) {
      if (!this.current) this.told.elsewhere();
      this.outbox.flush(); // that tab may have left an answer behind
      this.again(ELSEWHERE); // every look is a lease more in the log
      freed(this.stream, found.question).then(() => this.again(PAUSE));
      return;
    }
    if (this.left) {
      this.release(found);
      return;
    }
    this.pause = PAUSE;
    this.ahead.push(found);
    this.told.ahead(this.ahead.length);
    if (!this.current) this.next();
    setTimeout(() => this.fill());
  }

  // The question in front is answered; go on.
  finish() {
    this.answered.add(this.current.question);
    finish(this.stream, this.current.question);
    return this.next();
  }

  // An answer has come to the service, perhaps one of an earlier page.
  sent({ stream, question }) {
    if (stream === this.stream && this.current?.question !== question) finish(stream, question);
  }

  // Some answers may have come to the service meanwhile.
  settle() {
    const waiting = new Set(this.outbox.pending(this.stream).map((each) => each.question));
    for (const question of this.answered) {
      if (waiting.has(question)) continue;
      this.answered.delete(question);
      letGo(this.stream, question);
    }
  }

  // Look again after a while, and each time a little later.
  wait() {
    this.again(this.pause);
    this.pause = Math.min(1.3 * this.pause, LONGEST_PAUSE);
  }

  // Go on to the next question, which is there already unless the annotator is faster than the network.
  next() {
    this.current = this.ahead.shift() ?? null;
    this.told.ahead(this.ahead.length);
    if (this.current) this.told.shown(this.current);
    this.fill();
    return this.current;
  }

  // Put a question back in front; the one that was there comes after it.
  front(question) {
    if (this.current) this.ahead.unshift(this.current);
    this.current = question;
    this.answered.delete(question.question);
    takeBack(this.stream, question.question);
    this.told.shown(question);
  }

  async renew() {
    for (const question of this.held) {
      try {
        await call("POST", this.path(question.question, "renew"), who());
      } catch (error) {
        if (isGone(error)) {
          this.told.failed(error);
          return;
        }
        if (error instanceof Refused && [404, 409].includes(error.status)) this.lose(question, error.message);
      }
    }
    this.told.renewed();
  }

  lose(question, why) {
    this.ahead = this.ahead.filter((each) => each !== question);
    letGo(this.stream, question.question);
    if (this.current === question) {
      this.told.lost(question, why);
      this.current = null;
      if (!this.next()) this.told.shown(null);
    }
  }

  // Nothing that was fetched is shown any more.
  forget() {
    clearTimeout(this.timer);
    this.held.forEach((question) => letGo(this.stream, question.question));
    this.current = null;
    this.ahead = [];
    this.told.ahead(0);
  }

  release(question) {
    letGo(this.stream, question.question);
    call("POST", this.path(question.question, "release"), who(), { keepalive: true }).catch(() => null);
  }

  leave() {
    this.left = true;
    clearTimeout(this.timer);
    this.held.forEach((question) => this.release(question));
  }

  comeBack() {
    this.left = false;
    this.ahead = [];
    this.current = null;
    this.fill();
  }
}
