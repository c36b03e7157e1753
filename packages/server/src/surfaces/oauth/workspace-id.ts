import { decodeId } from '@postroad/contract'
import { z } from 'zod'

/** The id of a workspace in its public form, as the UUID. */
export const decodedWorkspace = z.string().transform((text, context) => {
  const id = decodeId('workspace', text)
  if (id !== undefined) return id
  context.addIssue('must be an id that begins with wsp_')
  return z.NEVER
})
