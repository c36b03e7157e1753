import { onScreens, testScreens } from '../stage/screens.ts'

onScreens(() => undefined)

testScreens('light', 'other')
testScreens('dark', 'other')
