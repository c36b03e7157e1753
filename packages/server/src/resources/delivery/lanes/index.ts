/** A lane is the queue of a destination. Its sender is the delivery loop; rooms look at a lane, and change it by hand. */
export { presentBreaker, type LaneStandRow, type ShownBreaker } from './present-breaker.ts'
export { lanesChanged } from './lanes-changed.ts'
export { askProbe, closeBreaker, keepOrder, keepOrphans } from './queries.ts'
