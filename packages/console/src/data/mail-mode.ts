import type { MailMode } from '@postroad/contract'
import { refusalIn } from '@postroad/sdk'
import { useQuery } from '@tanstack/react-query'

/** Whether the server emails, or an operator hands emails over; undefined until the server answered. */
export function useMailMode(): MailMode | undefined {
  return useQuery({ queryKey: ['mail mode'], queryFn: readMailMode, staleTime: Infinity }).data
}

async function readMailMode(): Promise<MailMode> {
  const response = await fetch('/admin/api/session/methods')
  if (!response.ok) throw await refusalIn(response)
  const methods: unknown = await response.json()
  const isOutbox = typeof methods === 'object' && methods !== null && 'mail' in methods && methods.mail === 'outbox'
  return isOutbox ? 'outbox' : 'smtp'
}

/** On a server that cannot email, a sentence about an email adds this. */
export const handedOver = (mode: MailMode | undefined): string =>
  mode === 'outbox'
    ? ' This server has no mail server, so an operator hands emails over: they are under Operators, Health.'
    : ''
