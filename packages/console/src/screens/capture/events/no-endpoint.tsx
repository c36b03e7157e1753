import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useGo } from '../../../data/go.tsx'
import { useRefusal } from '../../../data/place.ts'
import { Button } from '../../../ui/button.tsx'
import { Empty, RefusedLine } from '../../../ui/states.tsx'

/** A project without an endpoint: one press creates the first one, and its URL and command appear here. */
export function NoEndpoint(): ReactElement {
  const go = useGo()
  const refusal = useRefusal(routes.webhooks.create)
  const may = refusal === undefined
  const refused = refusal
  const make = useChange(['webhooks'], (client) => client.webhooks.create({ name: 'First endpoint' }))
  return (
    <Empty
      title="This project has no endpoint yet"
      actions={
        <>
          <Button
            kind="primary"
            disabled={!may || make.isPending}
            title={refused}
            onClick={() => make.mutate(undefined)}
          >
            Create an endpoint
          </Button>
          <Button disabled={!may} title={refused} onClick={() => go('endpoints', { new: '1' })}>
            Choose a sender
          </Button>
        </>
      }
    >
      An endpoint is a URL that receives events. Its URL and a command to copy appear here.
      <RefusedLine error={make.error} />
    </Empty>
  )
}
