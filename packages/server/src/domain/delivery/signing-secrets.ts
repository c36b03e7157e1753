/** What signs the deliveries of a destination while its secret is rotated. The simulator runs these very functions. */
export type SigningSecrets = {
  readonly current: string
  /** The one that was replaced last; null: there is none, or it ended at once. */
  readonly previous: { readonly value: string; readonly until: number } | null
}

/** Which secrets sign a request at `now`, the current one first. Deadlines and `now` are in ms by the database's clock. */
export function secretsToSign({ current, previous }: SigningSecrets, now: number): readonly string[] {
  return previous !== null && now < previous.until ? [current, previous.value] : [current]
}

/** A new secret takes over. The one it replaces signs beside it until `until` (null: it ends at once), and an older one ends here. */
export function rotated(
  held: SigningSecrets,
  { secret, until }: { readonly secret: string; readonly until: number | null },
): SigningSecrets {
  return { current: secret, previous: until === null ? null : { value: held.current, until } }
}
