export { type FileSettings, settingsFile } from './features/settings/file/settings-file.js'
