import { describeSettings } from './settings.js'

describeSettings(100, 4)
