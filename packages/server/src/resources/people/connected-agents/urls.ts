import { encodeId } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import type { GrantPlace } from './grant-id.ts'

/** The page of the console that opens this agent, in its workspace. */
export function manageUrlOf({ baseUrl }: Pick<Deps, 'baseUrl'>, { workspaceId, id }: GrantPlace): string {
  const search = new URLSearchParams({
    workspace: encodeId('workspace', workspaceId),
    agent: encodeId('connectedAgent', id),
  })
  return `${baseUrl()}/settings/agents?${search.toString()}`
}
