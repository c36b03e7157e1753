import type { Client } from '@postroad/sdk'
import type { ReactElement } from 'react'
import { useChange } from '../data/ask.ts'
import { useRefusal, type useMay } from '../data/place.ts'
import { Button } from '../ui/button.tsx'
import { useToast } from '../ui/toast.tsx'

type OnOff = { readonly on: string; readonly off: string }
type Props = {
  readonly enabled: boolean
  /** The route that changes it; it declares the required role. */
  readonly route: Parameters<typeof useMay>[0]
  /** The rooms that are read again after it. */
  readonly rooms: readonly string[]
  readonly set: (client: Client, enabled: boolean) => Promise<unknown>
  /** The effect of turning it on and off. */
  readonly titles: OnOff
  readonly said: OnOff
}

/** Turns something off and on again. */
export function Switch({ enabled, route, rooms, set, titles, said }: Props): ReactElement {
  const refusal = useRefusal(route)
  const may = refusal === undefined
  const toast = useToast()
  const change = useChange(rooms, set)
  const to = enabled ? 'off' : 'on'
  return (
    <Button
      disabled={!may || change.isPending}
      title={may ? titles[to] : refusal}
      onClick={() =>
        change.mutate(!enabled, {
          onSuccess: () => toast({ text: said[to] }),
          onError: (error) => toast({ text: error.message, kind: 'fail' }),
        })
      }
    >
      {enabled ? 'Turn off' : 'Turn on'}
    </Button>
  )
}
