import { encodeId } from '@postroad/contract'
import type { Attributes } from '../../domain/serving/forwarding/items.ts'

type Of = {
  readonly workspace_id: string
  readonly project_id: string
  readonly workspace_slug?: string
  readonly project_slug?: string
}

/** The resource of all items of a project. */
export const resourceOf = (of: Of): Attributes => ({
  'service.name': 'postroad',
  ...(of.workspace_slug === undefined ? {} : { 'postroad.workspace.slug': of.workspace_slug }),
  ...(of.project_slug === undefined ? {} : { 'postroad.project.slug': of.project_slug }),
  'postroad.workspace.id': encodeId('workspace', of.workspace_id),
  'postroad.project.id': encodeId('project', of.project_id),
})
