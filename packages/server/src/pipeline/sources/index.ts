export { fireCronTriggers } from './fire-cron.ts'
