import {
  compileTemplate,
  type Compiled,
  type Rendered,
  type TemplateScope,
} from '../domain/delivery/payload-template.ts'
import { parseStoredJson } from '../domain/json/json-text.ts'
import type { Heavy, HeavyAsked } from '../platform/heavy/heavy.ts'
import { task } from '../platform/heavy/task.ts'

/** `template`: its JSON, which compiled when it was saved. */
type Asked = { readonly template: string; readonly scope: TemplateScope }

export const renderBody = task('template.render', ({ template, scope }: Asked): Rendered => {
  const compiled = compileTemplate(valueOf(template))
  return 'error' in compiled ? { ok: false, error: compiled.error } : compiled.render(scope)
})

function valueOf(template: string): unknown {
  const parsed = parseStoredJson(template)
  return parsed.ok ? parsed.value : null
}

type Rendering = Pick<HeavyAsked<unknown>, 'workspaceId' | 'isPatient'> & {
  readonly template: Compiled
  readonly scope: TemplateScope
}

/** Renders a body here if that needs little work, otherwise in a thread. */
export function renderTemplate(
  { heavy }: { readonly heavy: Heavy },
  { template, scope, ...whose }: Rendering,
): Rendered | Promise<Rendered> {
  const rendered = template.renderLight(scope)
  if (rendered !== undefined) return rendered
  return heavy.run(renderBody, { ...whose, input: { template: template.source, scope }, work: Infinity })
}
