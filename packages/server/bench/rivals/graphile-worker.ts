/** graphile-worker with its local queue; each job is completed by a statement of its own, as it is unless told otherwise. */
import { answerAsGraphile } from './graphile.ts'

answerAsGraphile('single')
