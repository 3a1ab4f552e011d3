import { serveStore } from 'headgate/testing'
import { openInChild } from './open-in-child.js'

await serveStore(openInChild().store) // its pool ends with the connection to the parent
