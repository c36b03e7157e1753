import { onScreens, testScreens } from '../stage/screens.ts'

onScreens(() => undefined)

testScreens('dark')
testScreens('light', 'other')
testScreens('dark', 'other')
