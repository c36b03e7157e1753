/** The time as the API writes it, for people: `2026-01-15 12:00:00.000 UTC`. */
export function moment(timestamp: string): string {
  return `${timestamp.slice(0, 23).replace('T', ' ')} UTC`
}

/** The time in a list whose head has UTC. The year is left out, because events last weeks: `01-15 12:00:00.000`. */
export function listMoment(timestamp: string): string {
  return timestamp.slice(5, 23).replace('T', ' ')
}

/** The time in a list that covers years, to the second: `2026-01-15 12:00:00`. */
export function dayMoment(timestamp: string): string {
  return timestamp.slice(0, 19).replace('T', ' ')
}

/** `12 ms`, `1.2 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`
}
