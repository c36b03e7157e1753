import { decodeId, encodeId } from '@postroad/contract'

/** The place of the row that is the grant. */
export type GrantPlace = { readonly workspaceId: string; readonly id: string }

/** The name of a grant in tokens: the workspace and the agent. It is no secret, because a token is signed. */
export function grantIdOf({ workspaceId, id }: GrantPlace): string {
  return `${encodeId('workspace', workspaceId)}.${encodeId('connectedAgent', id)}`
}

export function grantPlaceIn(grantId: string): GrantPlace | undefined {
  const [workspace = '', agent = ''] = grantId.split('.')
  const workspaceId = decodeId('workspace', workspace)
  const id = decodeId('connectedAgent', agent)
  return workspaceId === undefined || id === undefined ? undefined : { workspaceId, id }
}
