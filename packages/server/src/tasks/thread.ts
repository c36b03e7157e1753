import { serveTasks } from '../platform/heavy/serve.ts'
import { TASKS } from './index.ts'

serveTasks(TASKS)
