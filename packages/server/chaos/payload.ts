import type { Rng } from '../sim/rng.ts'

/** Text that careless JSON parsers change: numbers beyond 2^53, a repeated key, escapes, blanks, letters beyond ASCII. */
const AWKWARD = '"n" : 12345678901234567890.10, "e":1e400,  "a":1,"a":2, "t":"caf\\u00e9 é 🚚 \\/ \\u2028"'

/** A JSON body of 0.2 to 4 KiB that names its event first. */
export function payload(event: string, rng: Rng): string {
  return `{"event":"${event}", ${AWKWARD}, "pad":"${'x'.repeat(rng.int(50, 3_900))}"}`
}

/** The event that a body names, or null. */
export function eventOf(text: string): string | null {
  return /"event":"([^"]+)"/.exec(text)?.[1] ?? null
}
