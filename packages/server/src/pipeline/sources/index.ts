export { fireCronTriggers } from './fire-cron.ts'
export { createSourcePolls, type SourcePolls } from './poll.ts'
export { createListeners, type Listeners } from './websocket/listeners.ts'
export { sampleSource } from './sample.ts'
