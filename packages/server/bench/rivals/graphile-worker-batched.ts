/** graphile-worker with its local queue and with completions in batches. */
import { answerAsGraphile } from './graphile.ts'

answerAsGraphile('batched')
