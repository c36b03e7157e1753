/** The secrets that sign the deliveries of a destination during a rotation. The simulator runs exactly these functions. */
export type SigningSecrets = {
  readonly current: string
  /** The secret that was replaced last; null: there is none, or it expired immediately. */
  readonly previous: { readonly value: string; readonly until: number } | null
}

/** The secrets that sign a request at `now`, the current one first. Deadlines and `now` are in ms by the database's clock. */
export function secretsToSign({ current, previous }: SigningSecrets, now: number): readonly string[] {
  return previous !== null && now < previous.until ? [current, previous.value] : [current]
}

/** Replaces the secret. The replaced one also signs until `until` (null: it expires now). An older one expires now. */
export function rotated(
  held: SigningSecrets,
  { secret, until }: { readonly secret: string; readonly until: number | null },
): SigningSecrets {
  return { current: secret, previous: until === null ? null : { value: held.current, until } }
}
