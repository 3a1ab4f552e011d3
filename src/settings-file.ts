/**
 * Settings that limiters follow in a file.
 *
 * @module
 */

export { type FileSettings, settingsFile } from './features/settings/file/settings-file.js'
