/** Faults planted on purpose, to see the simulator find them. */
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
  'told-in-vain',
  'cap-broken',
  'no-sweep',
  'hoard',
] as const
export type Plant = (typeof PLANTS)[number]
