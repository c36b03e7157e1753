import type { ReactElement } from 'react'
import { useChange, usePortal } from '../data/portal.ts'
import { go } from '../data/route.ts'
import type { DestinationBody } from '../data/server.ts'
import { ToButton } from '../ui/button.tsx'
import { SecretOnce } from '../ui/copy.tsx'
import { Head } from '../ui/head.tsx'
import { Card, Part } from '../ui/states.tsx'
import { DestinationForm } from './destination-form.tsx'
import { VerifyPart } from './verify.tsx'

const BACK = { to: { view: 'destinations' }, label: 'Destinations' } as const
const EMPTY: DestinationBody = { url: '', description: null, event_types: null }

/** Adds a destination, then shows its secret once. */
export function NewView(): ReactElement {
  const { refused } = usePortal()
  const create = useChange(['destinations'], (server, body: DestinationBody) => server.createDestination(body))
  if (create.data !== undefined) {
    const { destination, signing_secret } = create.data
    return (
      <>
        <Head
          back={BACK}
          title="The destination is ready"
          text="The destination receives events from now on. Store the secret before you leave this page."
        />
        <Card>
          <Part
            title="Signature"
            text="Each event is signed with this secret, so that your server can verify the sender."
          >
            <SecretOnce secret={signing_secret} note="The secret is shown only once. You can replace it later." />
            <ToButton kind="primary" to={{ view: 'destination', id: destination.id }}>
              Open the destination
            </ToButton>
          </Part>
          <VerifyPart />
        </Card>
      </>
    )
  }
  return (
    <>
      <Head back={BACK} title="Add destination" text="The destination receives events as soon as you add it." />
      <Card>
        <div className="p-5">
          <DestinationForm
            first={EMPTY}
            verb="Add destination"
            error={create.error}
            isRunning={create.isPending}
            refused={refused}
            onSubmit={(body) => create.mutate(body)}
            onCancel={() => go({ view: 'destinations' })}
          />
        </div>
      </Card>
    </>
  )
}
