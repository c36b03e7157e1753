import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Part } from '../../../parts/detail.tsx'
import { SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Field, Select } from '../../../ui/field.tsx'
import { JsonField } from '../../../ui/json-field.tsx'
import { LANGUAGES, languageName, languageOf } from './language.ts'
import { TestPart } from './test-part.tsx'

export type WholeTransform = RouteAnswer<Routes['transforms']['get']>['transform']
type Draft = Pick<WholeTransform, 'name' | 'language' | 'code'>

const CODE_ROWS = 22

/** The code beside its test. A test uses the code as it is in the editor; saving makes a new version. */
export function CodeTab({ transform }: { readonly transform: WholeTransform }): ReactElement {
  const { id, name, language, code } = transform
  const form = useSaveForm<Draft, Partial<Draft>>({
    held: { name, language, code },
    read: (draft) => bodyOf(draft, transform),
    route: routes.transforms.update,
    rooms: ['transforms', 'destinations'],
    send: (client, body) => client.transforms.update({ id, ...body }),
    countsFrom: 'the next attempt',
  })
  const { draft, change, disabled } = form
  return (
    <div className="grid min-h-full grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)] max-xl:grid-cols-1">
      <SaveForm label="Code" of={form}>
        <Part
          title="Code"
          text="transform(event) returns the event with another body and headers, or null to send nothing. The event has id, dataset, received_at, data, headers, request and body."
        >
          <div className="grid grid-cols-2 gap-3 max-md:grid-cols-1">
            <Field
              label="Name"
              value={draft.name}
              disabled={disabled}
              onChange={({ target }) => change({ ...draft, name: target.value })}
            />
            <Select
              label="Language"
              value={draft.language}
              disabled={disabled}
              onChange={({ target }) => change({ ...draft, language: languageOf(target.value) })}
            >
              {LANGUAGES.map((one) => (
                <option key={one} value={one}>
                  {languageName(one)}
                </option>
              ))}
            </Select>
          </div>
          <JsonField
            label="Code of the transform"
            value={draft.code}
            change={(text) => change({ ...draft, code: text })}
            rows={CODE_ROWS}
            checksJson={false}
          />
        </Part>
      </SaveForm>
      <section
        aria-label="Test"
        className="min-w-0 border-l border-line bg-sunken px-5 py-5 max-xl:border-t max-xl:border-l-0"
      >
        <TestPart code={draft.code} language={draft.language} />
      </section>
    </div>
  )
}

function bodyOf(draft: Draft, held: WholeTransform): { readonly body: Partial<Draft> } | { readonly problem: string } {
  if (draft.name.trim() === '') return { problem: 'Enter a name.' }
  if (draft.code.trim() === '') return { problem: 'Enter the code.' }
  const isNew = draft.code !== held.code || draft.language !== held.language
  return {
    body: {
      ...(draft.name === held.name ? {} : { name: draft.name.trim() }),
      ...(isNew ? { code: draft.code, language: draft.language } : {}),
    },
  }
}
