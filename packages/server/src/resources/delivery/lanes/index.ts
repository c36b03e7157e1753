/** A lane is the queue of a destination. The delivery loop sends from it; rooms only read it and make the changes that people ask for. */
export { presentBreaker, type LaneStandRow, type ShownBreaker } from './present-breaker.ts'
export { lanesChanged } from './lanes-changed.ts'
export { askProbe, closeBreaker, keepOrder, keepOrphans, listLanesOfProject } from './queries.ts'
