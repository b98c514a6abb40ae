export const help = `Usage: create-bert-edge [folder] [flags]

Creates an embedding API for your Cloudflare account. On a terminal it asks for what no flag says.

  --template <edge|edge+region>                 default edge
  --model <embedded|own>                        default embedded: bert-edge-mini, 18 MB
  --plan <free|paid>                            the Workers plan, default free
  --region <none|aws|container>                 default none, with --template edge+region container
  --package-manager <npm|pnpm|yarn|bun>         default: the one that runs this command
  --no-install                                  write the files, install nothing
  --no-git                                      make no Git repository
  -y, --yes                                     take the defaults, ask nothing
  -h, --help
  -v, --version`;
