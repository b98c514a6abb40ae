export const help = `Usage: create-bert-edge [folder] [flags]
       create-bert-edge --add region [folder] [--region <aws|container>]

Creates an embedding API for your Cloudflare account. On a terminal it asks for what no flag says. In CI, without a
terminal and with -y it takes the defaults.

  --add region                                  adds a region to an existing project; default container, in this folder
  --template <edge|edge+region>                 without a region, or with one; default edge
  --model <embedded|own>                        default embedded: bert-edge-mini, 18 MB; own: you prepare one later
  --plan <free|paid>                            the Workers plan, default free: 10 ms of CPU time per request
  --region <none|aws|container>                 default none, with --template edge+region container
  --package-manager <npm|pnpm|yarn|bun>         default: the one that runs this command
  --no-install                                  write the files, install nothing
  --no-git                                      make no Git repository
  -y, --yes                                     take the defaults, ask nothing
  -h, --help
  -v, --version`;

/** Said before the first question. */
export const optionsNote = "Flags answer questions too: --template, --model, --plan, --region. See --help.";
