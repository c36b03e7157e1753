import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import type { Portal } from '../../../data/lists.ts'
import { usePlace } from '../../../data/place.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { Part } from '../../../parts/detail.tsx'
import { SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { TextArea } from '../../../ui/field.tsx'
import { originsOf } from './draft.ts'
import { snippetsOf, type Way } from './snippets.ts'

/** The pages that may embed a portal, and the code for them. */
export function EmbedTab({ portal }: { readonly portal: Portal }): ReactElement {
  const { project } = usePlace()
  const [way, setWay] = useState<Way>('In a page')
  const form = useSaveForm({
    held: portal.frame_origins.join('\n'),
    read: originsOf,
    route: routes.portals.update,
    rooms: ['portals'],
    send: (client, body) => client.portals.update({ id: portal.id, ...body }),
    countsFrom: 'the next page load',
  })
  return (
    <SaveForm label="Embed" of={form}>
      <Part
        title="Allowed embedding sites"
        text="Browsers refuse to show the portal in a frame on any other site. This protects your customers from clickjacking."
      >
        <TextArea
          label="Origins"
          rows={3}
          placeholder="https://app.example.com"
          value={form.draft}
          disabled={form.disabled}
          onChange={({ target }) => form.change(target.value)}
          hint="One origin per line, without a path. https://*.example.com allows all subdomains."
        />
      </Part>
      <Part
        title="Code"
        text="The element requests a token for the signed-in customer from your server, and opens the portal with it. The element resizes automatically and renews access in the background."
      >
        <CodeBlock
          label="How to embed the portal"
          of={snippetsOf({ portal, projectId: project.id })}
          at={way}
          go={setWay}
        />
      </Part>
    </SaveForm>
  )
}
