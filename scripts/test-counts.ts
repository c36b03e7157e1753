export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number }

/** The counts of a run, and those of each file that failed in it. */
export type Result = Counts & { readonly failedFiles: Readonly<Record<string, Counts>> }

/** The line that machines read, always in this form. Skipped tests have lines with their reasons before it. */
export function lineOf({ passed, failed }: Counts): string {
  return `${passed} passed, ${failed} failed`
}

export function sumOf(all: readonly Counts[]): Counts {
  const sum = (key: keyof Counts): number => all.reduce((total, counts) => total + counts[key], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}

/** The counts without those of some files. */
export function without(counts: Counts, files: readonly Counts[]): Counts {
  const { passed, failed, skipped } = sumOf(files)
  return { passed: counts.passed - passed, failed: counts.failed - failed, skipped: counts.skipped - skipped }
}
