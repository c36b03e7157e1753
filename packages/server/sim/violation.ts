/** A rule was broken; the message says which. */
export class Violation extends Error {}
