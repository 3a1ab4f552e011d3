declare module 'multer' {
  import type { RequestHandler } from 'express'

  export default function multer(): { none(): RequestHandler }
}
