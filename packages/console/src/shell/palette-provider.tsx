import {
  createContext,
  lazy,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  type ReactElement,
  type ReactNode,
} from 'react'
import { loaded } from '../ui/loaded.ts'
import type { Command } from './palette.tsx'

type Palette = { readonly open: () => void; readonly add: (commands: readonly Command[]) => () => void }

const PaletteContext = createContext<Palette>({ open: () => undefined, add: () => () => undefined })
const PaletteWindow = lazy(() => loaded(() => import('./palette.tsx')))

export function usePalette(): Palette {
  return useContext(PaletteContext)
}

/** Adds commands to the palette while the component is there. Give a stable list, such as one from useMemo. */
export function useCommands(commands: readonly Command[]): void {
  const { add } = usePalette()
  useEffect(() => add(commands), [add, commands])
}

export function PaletteProvider({ children }: { readonly children: ReactNode }): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const [added, setAdded] = useState<readonly (readonly Command[])[]>([])
  const add = useCallback((commands: readonly Command[]) => {
    setAdded((before) => [...before, commands])
    return () => setAdded((before) => before.filter((one) => one !== commands))
  }, [])
  const palette = useMemo(() => ({ open: () => setOpen(true), add }), [add])
  return (
    <PaletteContext value={palette}>
      {children}
      {isOpen && (
        <Suspense>
          <PaletteWindow commands={added.flat()} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </PaletteContext>
  )
}
