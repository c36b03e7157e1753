export { fireCronTriggers } from './fire-cron.ts'
export { createSourcePolls, type SourcePolls } from './poll.ts'
export { sampleSource } from './sample.ts'
