import {
  All,
  Body,
  Controller,
  Get,
  HttpCode,
  HttpException,
  Module,
  Options,
  Post,
  type Type,
  UseGuards,
} from '@nestjs/common'
import { type loginGuard, RateLimitModule } from 'headgate/nest'
import { loginStatus, type Mount } from './login.js'

/** Returns the response to a login. Throws an error with the status of a wrong password. */
export function checkLogin(body: unknown): string {
  const status = loginStatus(body)
  if (status !== 200) throw new HttpException('wrong', status)
  return 'welcome'
}

type NestGuard = ReturnType<typeof loginGuard>

/**
 * Returns a new module of Nest with the site of an attack, at each call. `guardAt` creates the guard of a
 * mount; that of `'two'` is in a login and in what checks no password. `others` are more controllers.
 */
export function nestSiteModule(
  guardAt: (mount: Mount | 'two') => NestGuard,
  others: readonly Type[] = [],
): Type {
  const two = guardAt('two')

  @Controller('route')
  class RouteController {
    @Post('login')
    @HttpCode(200)
    @UseGuards(guardAt('route'))
    login(@Body() body: unknown): string {
      return checkLogin(body)
    }
  }

  @Controller('prefix')
  @UseGuards(guardAt('prefix'))
  class PrefixController {
    @Post('login')
    login(@Body() body: unknown): string {
      return checkLogin(body)
    }

    @Get('login')
    form(): string {
      return 'the form'
    }

    @Options('login')
    options(): string {
      return 'GET, POST'
    }

    @Post('forgot')
    forgot(): string {
      return 'see your mail'
    }
  }

  @Controller('all')
  class AllController {
    @All('login')
    @UseGuards(guardAt('all'))
    login(@Body() body: unknown): string {
      return checkLogin(body)
    }
  }

  @Controller('two')
  class LoginController {
    @Post('login')
    @UseGuards(two)
    login(@Body() body: unknown): string {
      return checkLogin(body)
    }
  }

  @Controller('two')
  class ForgotController {
    @Post('forgot')
    @UseGuards(two)
    forgot(): string {
      return 'see your mail'
    }
  }

  @Module({
    imports: [RateLimitModule.forRoot({})],
    controllers: [
      RouteController,
      PrefixController,
      AllController,
      LoginController,
      ForgotController,
      ...others,
    ],
  })
  class SiteModule {}
  return SiteModule
}
