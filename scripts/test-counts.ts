export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number }

/** The line that machines read, always in this form. Skipped tests have lines with their reasons before it. */
export function lineOf({ passed, failed }: Counts): string {
  return `${passed} passed, ${failed} failed`
}

export function sumOf(all: readonly Counts[]): Counts {
  const sum = (key: keyof Counts): number => all.reduce((total, counts) => total + counts[key], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}
