/** A broken rule; the message names it. */
export class Violation extends Error {}
