/**
 * Settings in a file, which a limiter follows while it runs.
 *
 * @module
 */

export { type FileSettings, settingsFile } from './settings/file/settings-file.js'
