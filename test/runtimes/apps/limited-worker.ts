export { LimitsObject } from 'headgate/durable-objects'
export { default } from './limited.js'
