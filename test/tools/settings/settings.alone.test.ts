import { describeSettings } from './settings.js'

describeSettings(6, 3)
