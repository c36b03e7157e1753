/** Deliberate faults that the simulator must find. */
export const PLANTS = [
  'no-fence',
  'no-reclaim',
  'ack-before-commit',
  'no-breaker-handover',
  'double-burst',
  'no-probe',
  'uncounted-release',
  'resumed-beyond',
  'newest-released',
  'order-broken',
  'stale-secret',
  'no-overlap-signature',
  'wall-overlap',
  'ignored-notice',
  'cap-broken',
  'no-sweep',
  'hoard',
  'no-ramp',
  'no-reserve',
] as const
export type Plant = (typeof PLANTS)[number]
