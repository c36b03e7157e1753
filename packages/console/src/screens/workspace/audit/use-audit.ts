import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useAllApiKeys, useAllMembers } from '../../../data/lists.ts'
import { useNamed } from '../../../data/named.ts'
import { useClient, useMay, usePlace } from '../../../data/place.ts'
import { routes } from '@postroad/contract'
import type { AuditFilter } from './search.ts'
import type { AuditRow } from '../../../parts/audit-sentence.ts'

const PAGE = 100

/** The rows of the log, page by page, newest first. */
export function useAudit(filter: AuditFilter) {
  const client = useClient()
  const { project } = usePlace()
  const query = useInfiniteQuery({
    queryKey: [project.id, 'audit', filter],
    queryFn: ({ pageParam, signal }) =>
      client.audit.list({ ...filter, limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
  const rows = useMemo<readonly AuditRow[] | undefined>(
    () => query.data?.pages.flatMap(({ audit }) => audit),
    [query.data],
  )
  return { ...query, rows }
}

/** The names of people and things, for sentences. An unknown thing has its id as its name. */
export function useNames(): (id: string) => string {
  const members = useAllMembers({ enabled: useMay(routes.members.list) }).data
  const things = useNamed()
  const keys = useAllApiKeys().data
  const { projects, me } = usePlace()
  return useMemo(() => {
    const names = new Map<string, string>([
      [me.user.id, me.user.name],
      [me.workspace.id, me.workspace.name],
      ...(members ?? []).map(({ id, name }) => [id, name] as const),
      ...(keys ?? []).map(({ id, name }) => [id, name] as const),
      ...things.map(({ id, name }) => [id, name] as const),
      ...projects.map(({ id, name }) => [id, name] as const),
    ])
    return (id) => names.get(id) ?? id
  }, [members, keys, things, projects, me])
}
