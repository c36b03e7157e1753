import type { ReactElement } from 'react'
import type { ApiKey } from '../../../data/lists.ts'
import { Chip, type Tone } from '../../../ui/glyph.tsx'

type Status = { readonly tone: Tone; readonly word: string; readonly text: string }

/** Whether requests with the key succeed now. */
export function isUsable({ status, created_by }: ApiKey): boolean {
  return status === 'active' && created_by.is_member
}

export function statusOf({ status, created_by }: Pick<ApiKey, 'status' | 'created_by'>): Status {
  switch (status) {
    case 'revoked':
      return { tone: 'rejected', word: 'revoked', text: 'Requests with this key get 401.' }
    case 'expired':
      return { tone: 'none', word: 'expired', text: 'Requests with this key get 401. Create a new key.' }
    case 'active':
      return created_by.is_member
        ? { tone: 'ok', word: 'active', text: 'The key works.' }
        : {
            tone: 'fail',
            word: 'no creator',
            text: 'The key no longer works, because its creator has left the workspace.',
          }
    default:
      return status satisfies never
  }
}

export function StatusChip({ of }: { readonly of: ApiKey }): ReactElement {
  const { tone, word } = statusOf(of)
  return <Chip tone={tone}>{word}</Chip>
}
