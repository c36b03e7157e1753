/** graphile-worker with its local queue. It completes each job in a separate statement, which is its default. */
import { answerAsGraphile } from './graphile.ts'

answerAsGraphile('single')
