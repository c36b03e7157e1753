export { listTasks, type TaskRow } from './queries.ts'
