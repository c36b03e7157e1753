/** A name with `{dataset}` and `{id}` filled in. */
export function filledName(pattern: string, event: { readonly dataset: string; readonly id: string }): string {
  return pattern.replaceAll('{dataset}', () => event.dataset).replaceAll('{id}', () => event.id)
}
