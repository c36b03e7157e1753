/** A list that a person typed: one item a line, or with commas between. */
export function listIn(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

/** "1 rule", "3 rules". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
